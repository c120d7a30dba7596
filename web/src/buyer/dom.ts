// Makes elements. Texts become text nodes, never markup: names of shops, files and users are strangers' words.
import { isolated } from '@/i18n/outside';

export type Child = Node | string | null | false;

type Attributes = Record<string, string | boolean | ((event: Event) => void) | undefined>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const it = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') it.addEventListener(name, value);
    else if (value === true) it.setAttribute(name, '');
    else if (typeof value === 'string') it.setAttribute(name, value);
  }
  it.append(...children.filter((child): child is Node | string => child !== null && child !== false));
  return it;
}

// Names stand apart from the direction of the text round them, and are not translated.
export const nameOf = (text: string, className = 'name') =>
  element('bdi', { class: className, translate: 'no' }, isolated(text));

const SVG = 'http://www.w3.org/2000/svg';
const PATHS = {
  wave: 'M3 12h2.5c1.5 0 1.5-6 3.5-6s2 12 4.5 12 2-6 3.5-6H21',
  capture: 'M15 3a6 6 0 1 1-4.2 10.2L4 20M15 3a6 6 0 0 1 6 6',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  undo: 'M9 14L4 9l5-5M4 9h10a6 6 0 0 1 0 12h-2',
  clock: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM12 7.5V12l3 2',
  person: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 20c0-3 2.5-5 6-5h2M18 15v6M15 18h6',
  pen: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  out: 'M11 5H6a2 2 0 0 0-2 2v11a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2v-5M14 4h6v6M20 4l-9 9',
} as const;

export function icon(name: keyof typeof PATHS): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  for (const [key, value] of Object.entries({
    viewBox: '0 0 24 24',
    width: '20',
    height: '20',
    'aria-hidden': 'true',
    class: 'icon',
  }))
    svg.setAttribute(key, value);
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
