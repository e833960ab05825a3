# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# prove's harness, where those tests run side by side (prove -j) that start no job, make no
# nodes and judge no time. They come first; all others follow one by one. A test that is not
# named here is one of these.

package SideBySide;

use strict;
use warnings;
use parent 'TAP::Harness';

# The longest first, so that none is left alone at the end.
my @SIDE_BY_SIDE = (
    qr{test/tuning/(?:predict|why)\.t}, qr{test/bench/figures\.t},
    qr{test/opal/engine\.t},
    qr{test/unit/\w+\.t},
    qr{test/opal/(?:lookahead|patches|places|seek|units)\.t},
    qr{test/bench/turns\.t},
    qr{test/tuning/(?:budget|cells|choose|held_out|input|machine|preflight|progress
        |prove|report|resume|rules|said|stats|variables)\.t}x,
);

sub aggregate_tests {
    my ($self, $aggregate, @tests) = @_;
    my $jobs = $self->jobs;
    my @beside = map { my $name = $_; grep { m{(?:^|/)$name$} } @tests } @SIDE_BY_SIDE;
    my %beside = map { $_ => 1 } @beside;
    foreach my $part ([$jobs, @beside], [1, grep { !$beside{$_} } @tests]) {
        my ($at_once, @names) = @$part;
        next unless @names;
        $self->jobs($at_once);
        $self->formatter->jobs($at_once);
        $self->SUPER::aggregate_tests($aggregate, @names);
    }
}

1;
