# A page that waits 20 ms for something else, so that requests are under way at every moment. A broken version ends before it answers.
use strict;
use warnings;

die "this version is broken\n" if -e "$ENV{DIR}/broken";

sub {
    select undef, undef, undef, 0.02;
    return [200, ['Content-Type' => 'text/plain', 'Content-Length' => 5], ["done\n"]];
};
