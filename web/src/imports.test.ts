// No file of src/ imports itself through others, types included: one that two files need stands in a file of its own.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
const known = new Set(files);

// The files of src/ that one of them imports. Style sheets and packages are left out.
function importedBy(name: string): string[] {
  return ts.preProcessFile(readFileSync(`src/${name}`, 'utf8')).importedFiles.flatMap(({ fileName }) => {
    const base = fileName.startsWith('@/') ? fileName.slice(2) : path.posix.join(path.posix.dirname(name), fileName);
    return ['.ts', '.tsx', '/index.ts'].map((ending) => base + ending).filter((file) => known.has(file));
  });
}

function findCircles(imports: Map<string, string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (name: string, way: string[]) => {
    if (way.includes(name)) circles.push([...way.slice(way.indexOf(name)), name].join(' → '));
    if (way.includes(name) || done.has(name)) return;
    for (const next of imports.get(name) ?? []) visit(next, [...way, name]);
    done.add(name);
  };
  for (const name of imports.keys()) visit(name, []);
  return circles;
}

test('a circle is found', () => {
  const imports = new Map(Object.entries({ page: ['part', 'rows'], part: ['rows', 'types'], types: ['page'] }));
  expect(findCircles(imports)).toEqual(['page → part → types → page']);
});

test('imports go round in no circle', () => {
  const imports = new Map(files.map((name) => [name, importedBy(name)]));
  expect(imports.get('main.tsx')).toContain('router.tsx');
  expect(findCircles(imports)).toEqual([]);
});
