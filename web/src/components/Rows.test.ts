import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('a selected row has one colour from edge to edge while the pointer is over it', () => {
  const css = readFileSync(`${import.meta.dirname}/Rows.module.css`, 'utf8');
  const bodyOf = (selector: string) => css.split(`\n${selector} {`)[1]?.split('}')[0] ?? '';
  const colour = /background: (.+);/.exec(bodyOf('.table tr[data-chosen] td'))?.[1] ?? 'none';
  expect(bodyOf('.table tr[data-linked]:hover').match(/var\(--row-hover\)/g)).toHaveLength(3);
  expect(bodyOf('.table tr[data-linked][data-chosen]:hover')).toContain(`--row-hover: ${colour};`);
});
