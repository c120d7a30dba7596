// Packs the web files that web/ has built for the program: all bytes one after another in OUT/packed_web_files.bin, and the table of them in
// OUT/packed_web_files.cpp (web_files.h). NAME.br and NAME.gz are NAME compressed. Arguments: the folder, OUT.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

const [folder, out] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile())
  .map((one) => relative(folder, join(one.parentPath ?? one.path, one.name)))
  .filter((name) => !name.startsWith('.'))
  .sort();
if (!files.includes('index.html')) throw new Error(`${folder} has no index.html`);

const chunks = [];
let offset = 0;
const place = (bytes) => {
  const at = offset;
  chunks.push(bytes);
  offset += bytes.length;
  return `at(${at}, ${bytes.length})`;
};
// The page index.html is at /, the page p.html at /p.
const pathOf = (name) => (name === 'index.html' ? '/' : `/${name.replace(/\.html$/, '')}`);
const rows = files
  .filter((name) => !/\.(br|gz)$/.test(name))
  .map((name) => {
    const type = TYPES[extname(name)];
    if (!type) throw new Error(`${name}: of which content type? Name it in make_web_files.mjs.`);
    const bytes = readFileSync(join(folder, name));
    const packed = (end) =>
      existsSync(join(folder, name + end)) ? place(readFileSync(join(folder, name + end))) : '{}';
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 24);
    return `    WebFile{${JSON.stringify(pathOf(name))}, ${JSON.stringify(type)}, "${hash}", ${place(bytes)}, ${packed('.gz')}, ${packed('.br')}},`;
  });

const bin = resolve(out, 'packed_web_files.bin');
writeFileSync(bin, Buffer.concat(chunks));
writeFileSync(
  resolve(out, 'packed_web_files.cpp'),
  `#include "api/web_files.h"

#include <array>

asm(".section .rodata\\n.global presetbridge_web_files\\npresetbridge_web_files:\\n.incbin \\"${bin}\\"\\n.previous\\n");
extern "C" const char presetbridge_web_files[];

namespace presetbridge::api {
namespace {
std::string_view at(std::size_t offset, std::size_t size) { return {presetbridge_web_files + offset, size}; }
const std::array<WebFile, ${rows.length}> kFiles{{
${rows.join('\n')}
}};
}  // namespace
const std::span<const WebFile> web_files(kFiles);
}  // namespace presetbridge::api
`,
);
