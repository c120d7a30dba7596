// The catalogue as a language that nobody speaks (`vite build --mode pseudo`, for tests): each text stands in ⟦ ⟧, accented and longer. Words
// outside of them are no text of the catalogue.
import type { Plugin } from 'vite';

// Files that export nothing but texts: strings, objects of them, or functions that make them.
const TEXTS = /\/src\/(i18n\/en\/\w+|buyer\/texts)\.ts$/;

// Runs in the page, with the texts; `pseudoTexts` has them by their keys, each in all its forms.
const marked = `
function markedText(it, name) {
  if (typeof it === 'function') return (...given) => markedText(it(...given));
  if (it && typeof it === 'object') return Object.fromEntries(Object.entries(it).map(([key, one]) => [key, markedText(one, name ?? key)]));
  if (typeof it !== 'string') return it;
  const letters = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', n: 'ñ', c: 'ç', s: 'š', A: 'Á', E: 'É' };
  const shown = '⟦' + it.replace(/\\{[^}]*\\}|[aeiouncsAE]/g, (found) => letters[found] ?? found) + '~'.repeat(Math.ceil(it.length * 0.3)) + '⟧';
  if (name) ((globalThis.pseudoTexts ??= {})[name] ??= []).push(shown);
  return shown;
}`;

export function pseudoLocale(): Plugin {
  return {
    name: 'pseudo-locale',
    enforce: 'pre',
    transform(code, id) {
      if (!TEXTS.test(id)) return undefined;
      const names = [...code.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name);
      // A part adds itself at the end of its file, by then with the marked texts.
      const [before = '', after = ''] = code.split(/^(?=addWords\()/m);
      const marks = names.map((name) => `${name} = markedText(${name});`).join('\n');
      return `${before.replace(/^export const /gm, 'export let ')}${marked}\n${marks}\n${after}`.replace(
        /\} as const;/g,
        '};',
      );
    },
  };
}
