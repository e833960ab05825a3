# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# prove's own output and, below it, one line for people and programs in a
# hurry: "N passed, N failed, N skipped".

package CountingFormatter;

use strict;
use warnings;
use parent 'TAP::Formatter::Console';
use TAP::Formatter::File;

# Of tests that run side by side a file has each test's lines together; a terminal has a ruler.
sub open_test {
    my ($self, @rest) = @_;
    return $self->TAP::Formatter::File::open_test(@rest) if $self->jobs > 1 && !-t STDOUT;
    return $self->SUPER::open_test(@rest);
}

# A file that fails without a failed test (it died, or ran too few) counts as
# one failure, a file that skips itself as one skip.
sub summary {
    my ($self, $aggregate, @rest) = @_;
    $self->SUPER::summary($aggregate, @rest);
    my ($failed, $skipped) = (scalar $aggregate->failed, scalar $aggregate->skipped);
    my $passed = $aggregate->passed - $skipped;
    foreach my $parser ($aggregate->parsers) {
        ++$skipped if defined $parser->skip_all;
        ++$failed  if $parser->has_problems && !$parser->failed;
    }
    $self->_output("$passed passed, $failed failed, $skipped skipped\n");
}

1;
