// Sets the theme before anything is painted. The same key as in src/theme/theme.ts.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem('presetbridge-theme');
  } catch {
    // No storage: the system's scheme.
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
