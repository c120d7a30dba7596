// A program that ends with this process, however that ends.
import { spawn } from 'node:child_process';

// A program whose parent died before it could ask to die with it gets no signal: it sees that its parent is another process.
const UNLESS_ALONE = 'test "$PPID" = "$0" && exec "$@"';

// Like spawn() of node:child_process. The program gets the signal (KILL, TERM) when this process ends.
export function spawnTied(signal, program, args, options) {
  return spawn(
    'setpriv',
    ['--pdeathsig', signal, '--', 'sh', '-c', UNLESS_ALONE, String(process.pid), program, ...args],
    options,
  );
}
