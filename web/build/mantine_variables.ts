// Mantine writes its theme's variables into a <style> element at run time, which the policy of the page forbids. Here they
// are written to a style sheet at build time instead: `import 'virtual:mantine-variables.css'`.
import { convertCssVariables, defaultCssVariablesResolver, mergeMantineTheme, DEFAULT_THEME } from '@mantine/core';
import type { Plugin } from 'vite';
import { theme } from '../src/theme/theme';

const NAME = 'virtual:mantine-variables.css';
// Palettes whose colours no page uses.
const UNUSED = /^--mantine-color-(pink|grape|violet|indigo|blue|cyan|teal|green|lime|yellow|orange|red)-/;

const used = (variables: Record<string, string>) =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !UNUSED.test(name)));

export function mantineVariables(): Plugin {
  return {
    name: 'mantine-variables',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load(id) {
      if (id !== `\0${NAME}`) return undefined;
      const { variables, light, dark } = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme));
      const css = convertCssVariables({ variables: used(variables), light: used(light), dark: used(dark) }, ':root');
      return `@layer reset, mantine; @layer mantine { ${css} }`;
    },
  };
}
