#!/bin/sh
# Installs Debian packages of the servers that plans start, if they are missing. Without `all`, installs only those that checks need.
# Usage: systems.sh [all]
set -eu

missing=
need() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || missing="$missing $2"; }
need nginx nginx
need puma puma
need unicorn unicorn
ruby -e "require %q(sinatra/base)" 2>/dev/null || missing="$missing ruby-sinatra"
need passenger passenger
need faketime faketime
need perf linux-perf
if [ "${1-}" = all ]; then
    need start_server libserver-starter-perl
    perl -MPlack::Handler::Starlet -e 1 2>/dev/null || missing="$missing starlet"
    need starman starman
    need mariabackup mariadb-backup
    need groonga groonga-bin
    need groonga-httpd groonga-httpd
    need php php-cli
    [ -n "$(find /usr/sbin -name 'php-fpm*' 2>/dev/null)" ] || missing="$missing php-fpm"
    need apache2 apache2
    [ -n "$(find /usr/lib/apache2/modules -name 'libphp*.so' 2>/dev/null)" ] || missing="$missing libapache2-mod-php"
    ruby -e 'require "webrick"' 2>/dev/null || missing="$missing ruby-webrick"
    ruby -e 'require "action_controller/railtie"' 2>/dev/null || missing="$missing ruby-rails"
    need npm npm
fi
# shellcheck disable=SC2086 # a list of names
"$(dirname "$0")/packages.sh" $missing
