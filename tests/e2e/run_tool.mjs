// Programs of others that the tests try.
import { execFile } from 'node:child_process';

// Resolves to the result. `code`: its exit code, or the signal that ended it, that of the deadline (`options.timeout`) included.
export function runTool(program, words, options) {
  return new Promise((done) =>
    execFile(program, words, { maxBuffer: 10 ** 7, ...options }, (error, stdout, stderr) =>
      done({ code: error ? (error.signal ?? error.code) : 0, stdout, text: stdout + stderr }),
    ),
  );
}
