import hooks from 'eslint-plugin-react-hooks';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const WORDS = '/[A-Za-z]{2}/';
const SPOKEN = '/^(label|title|placeholder|description|alt|aria-label|aria-description|nothingFoundMessage)$/';

export default defineConfig(
  { ignores: ['dist', 'src/api/schema.d.mts'] },
  ...tseslint.configs.recommended,
  hooks.configs.flat['recommended-latest'],
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' },
      ],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: `JSXText[value=${WORDS}]`, message: 'Words come from the catalogue: t() or <T>.' },
        {
          selector: `JSXAttribute[name.name=${SPOKEN}] > Literal[value=${WORDS}]`,
          message: 'Words come from the catalogue: t().',
        },
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'All text is text.' },
        { selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML)$/]', message: 'All text is text.' },
        {
          selector: 'JSXAttribute > JSXExpressionContainer > ObjectExpression > Property[key.name="base"]',
          message:
            'A responsive style prop adds a <style> element, which the policy of the page forbids; use a style sheet.',
        },
        {
          selector: 'JSXOpeningElement[name.name="bdi"]',
          message: 'An isolate ends with a U+2069 of the text in it; use components/Bdi.tsx.',
        },
        {
          selector: 'JSXOpeningElement[name.name="style"]',
          message: 'The policy of the page forbids <style> elements.',
        },
      ],
      'no-restricted-globals': ['error', { name: 'sessionStorage', message: 'Nothing of a session is stored.' }],
    },
  },
  {
    files: ['src/**/*.test.{ts,tsx}'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
