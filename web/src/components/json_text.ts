// JSON laid out for reading. Only white space between its parts changes: numbers of any length, names that come twice and the way
// that characters are written stay as they were sent.
const PARTS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const DEEPEST = 40; // what lies deeper is indented no further

export function laidOut(text: string): string {
  JSON.parse(text); // throws where it is none
  let depth = 0;
  let out = '';
  const line = () => `\n${'  '.repeat(Math.min(depth, DEEPEST))}`;
  const parts = text.match(PARTS) ?? [];
  parts.forEach((part, at) => {
    const next = parts[at + 1];
    if (part === '{' || part === '[') {
      depth += 1;
      out += next === '}' || next === ']' ? part : part + line();
    } else if (part === '}' || part === ']') {
      depth -= 1;
      out += parts[at - 1] === '{' || parts[at - 1] === '[' ? part : line() + part;
    } else if (part === ',') out += part + line();
    else out += part === ':' ? ': ' : part;
  });
  return out;
}

// Characters that have no width or turn the direction of what follows, as JSON writes them out.
export const visible = (text: string) =>
  text.replace(
    /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
