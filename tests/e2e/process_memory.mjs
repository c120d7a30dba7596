// Searches for texts where they must not be: in a process's memory, and in files.
import { closeSync, openSync, readFileSync, readSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

const CHUNK = 4 * 1024 * 1024;
const SHADOW = 16n << 30n; // what is larger is a sanitizer's shadow: terabytes that hold nothing of the program's

// Which of `needles` (name -> text) are in the readable memory of a process: names with the mapping where each was found. Reads as
// the kernel lets a tracer: as root, or as root of the process's user namespace.
export function findInMemory(pid, needles) {
  const wanted = Object.entries(needles).map(([name, text]) => [name, Buffer.from(text)]);
  const overlap = Math.max(...wanted.map(([, bytes]) => bytes.length)) - 1;
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const found = [];
  let scanned = 0;
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const region = /^([0-9a-f]+)-([0-9a-f]+) (r)\S+ \S+ \S+ \S+\s*(.*)$/.exec(line);
      if (!region || ['[vvar]', '[vvar_vclock]', '[vsyscall]'].includes(region[4])) continue;
      const end = BigInt(`0x${region[2]}`);
      if (end - BigInt(`0x${region[1]}`) > SHADOW) continue;
      const chunk = Buffer.allocUnsafe(CHUNK + overlap);
      let kept = 0; // bytes of the chunk before that may be the start of a match
      for (let at = BigInt(`0x${region[1]}`); at < end;) {
        const length = Number(end - at < CHUNK ? end - at : BigInt(CHUNK));
        let read;
        try {
          read = readSync(memory, chunk, kept, length, at);
        } catch (error) {
          if (!['EIO', 'EFAULT'].includes(error.code)) throw error;
          break; // a guard page, or a mapping that went away meanwhile
        }
        if (read === 0) break;
        scanned += read;
        const view = chunk.subarray(0, kept + read);
        for (const [name, bytes] of wanted) {
          if (view.includes(bytes)) found.push({ name, where: region[4] || 'anonymous memory' });
        }
        kept = Math.min(overlap, view.length);
        view.copy(chunk, 0, view.length - kept);
        at += BigInt(read);
      }
    }
  } finally {
    closeSync(memory);
  }
  return { found, scanned };
}

// Searches all files under a folder for them.
export function findInFiles(folder, needles) {
  const found = [];
  const files = [];
  for (const entry of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, entry);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) continue; // a database's come and go
    files.push(entry);
    const bytes = readFileSync(file);
    for (const [name, text] of Object.entries(needles)) if (bytes.includes(text)) found.push({ name, where: entry });
  }
  return { found, files };
}

// Which of them are in a text.
export function findInText(text, needles) {
  return Object.keys(needles).filter((name) => text.includes(needles[name]));
}

export function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}
