#!/bin/sh
# Installs the load generators of plans/load-tools.yaml if they are missing: wrk, ab, and pgbench as Debian packages, k6 and JMeter
# into FOLDER. k6 needs Go, JMeter needs Java and Maven. Add FOLDER/bin to PATH afterwards.
# Usage: load-tools.sh FOLDER
set -eu

K6_VERSION=v0.57.0
JMETER_VERSION=5.6.3

mkdir -p "$1/bin"
folder=$(cd "$1" && pwd)
scripts=$(cd "$(dirname "$0")" && pwd)

missing=
need() { command -v "$1" >/dev/null || missing="$missing $2"; }
need wrk wrk
need ab apache2-utils
need nginx nginx
need go golang
need java default-jre-headless
need mvn maven
need unzip unzip
# shellcheck disable=SC2086 # a list of names
"$scripts/packages.sh" $missing
"$scripts/databases.sh"
# Debian installs pgbench in a folder that is not on the PATH.
newest=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
ln -sf "$newest/pgbench" "$folder/bin/pgbench"

[ -x "$folder/bin/k6" ] || GOBIN="$folder/bin" go install "go.k6.io/k6@$K6_VERSION"

if [ ! -x "$folder/bin/jmeter" ]; then
    work=$folder/jmeter
    mkdir -p "$work/app/bin" "$work/app/lib/ext" "$work/app/lib/junit"
    {
        echo "<project><modelVersion>4.0.0</modelVersion><groupId>tenbin</groupId><artifactId>jmeter</artifactId><version>1</version><dependencies>"
        for name in ApacheJMeter ApacheJMeter_core ApacheJMeter_http ApacheJMeter_config ApacheJMeter_components ApacheJMeter_functions; do
            echo "<dependency><groupId>org.apache.jmeter</groupId><artifactId>$name</artifactId><version>$JMETER_VERSION</version></dependency>"
        done
        echo "</dependencies></project>"
    } >"$work/pom.xml"
    mvn --batch-mode --quiet --file "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/jars"
    unzip -q -o "$work/jars/ApacheJMeter_config-$JMETER_VERSION.jar" 'bin/*' -d "$work/app"
    for jar in "$work"/jars/*.jar; do
        case $jar in
        */ApacheJMeter-*) cp "$jar" "$work/app/bin/ApacheJMeter.jar" ;;
        */ApacheJMeter_*) cp "$jar" "$work/app/lib/ext/" ;;
        *) cp "$jar" "$work/app/lib/" ;;
        esac
    done
    printf '#!/bin/sh\nexec java -Xmx512m -Djava.awt.headless=true -jar "%s" "$@"\n' "$work/app/bin/ApacheJMeter.jar" >"$folder/bin/jmeter"
    chmod 755 "$folder/bin/jmeter"
fi
