// The font of the first words is loaded with the page, not only once its style sheet has come.
import type { Plugin } from 'vite';

export function preloads(pattern: RegExp): Plugin {
  return {
    name: 'preloads',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((name) => pattern.test(name))
          .map((name) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `/${name}` },
            injectTo: 'head-prepend' as const,
          })),
    },
  };
}
