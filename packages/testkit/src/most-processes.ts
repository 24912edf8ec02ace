/**
 * A script that prints how many more processes it could start, up to 2,000; they have ended by then. It is in
 * Perl because a shell that cannot fork waits, and its own processes count too.
 */
export const maxProcesses = `perl -e '
  while (@more < 2000 && defined(my $pid = fork)) {
    if ($pid == 0) { sleep 60; exit }
    push @more, $pid;
  }
  kill KILL => @more;
  1 while wait > 0;
  print scalar @more;
'`;
