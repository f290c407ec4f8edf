# words.pl TURNS: strings that grow in a hash, sorted and matched; prints a checksum.
use strict;
my $sum = 0;
for my $turn (1 .. $ARGV[0]) {
    my %words;
    $words{$_ * 7919 % 5003} .= 'x' x ($_ % 50) . $_ for 1 .. 60000;
    my @sorted = sort { length $a <=> length $b || $a cmp $b } values %words;
    $sum += () = $sorted[-$_] =~ /x\d+/g for 1 .. 500;
    my @rows = map { { key => $_, parts => [split /x+/, $words{$_}] } } sort keys %words;
    $sum += scalar @{ $_->{parts} } for @rows;
}
print "$sum\n";
