#!/bin/sh
# Installs mongo-java-server, which speaks MongoDB's protocol, as FOLDER/bin/mongo-java-server if it is missing. Needs Java and Maven.
# Usage: mongo-java-server.sh FOLDER; then start it with FOLDER/bin/mongo-java-server PORT
set -eu

VERSION=1.47.0

mkdir -p "$1/bin"
folder=$(cd "$1" && pwd)
scripts=$(cd "$(dirname "$0")" && pwd)
jars=$folder/mongo-java-server-$VERSION
[ -x "$folder/bin/mongo-java-server" ] && grep -qF "$jars" "$folder/bin/mongo-java-server" && exit

missing=
need() { command -v "$1" >/dev/null || missing="$missing $2"; }
need javac default-jdk-headless
need mvn maven
# shellcheck disable=SC2086 # a list of names
"$scripts/packages.sh" $missing

mkdir -p "$jars"
cat >"$jars/pom.xml" <<POM
<project><modelVersion>4.0.0</modelVersion><groupId>tenbin</groupId><artifactId>store</artifactId><version>1</version><dependencies>
<dependency><groupId>de.bwaldvogel</groupId><artifactId>mongo-java-server</artifactId><version>$VERSION</version></dependency>
</dependencies></project>
POM
mvn --batch-mode --quiet --file "$jars/pom.xml" dependency:copy-dependencies -DoutputDirectory="$jars"
cat >"$jars/Start.java" <<'JAVA'
/** Starts a server in memory on a port of 127.0.0.1. */
public class Start {
    public static void main(String[] arguments) {
        var backend = new de.bwaldvogel.mongo.backend.memory.MemoryBackend();
        new de.bwaldvogel.mongo.MongoServer(backend).bind("127.0.0.1", Integer.parseInt(arguments[0]));
    }
}
JAVA
javac -cp "$jars/*" -d "$jars" "$jars/Start.java"
# These JVM flags shorten the start and save memory.
printf '#!/bin/sh\nexec java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "%s:%s/*" Start "$@"\n' "$jars" "$jars" >"$folder/bin/mongo-java-server"
chmod 755 "$folder/bin/mongo-java-server"
