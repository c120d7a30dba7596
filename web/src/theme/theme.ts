// The appearance of Mantine's components. Colours are the variables of tokens.css, so that light and dark are one theme.
import { createTheme, localStorageColorSchemeManager, type VariantColorsResolver } from '@mantine/core';

const variants: Record<string, ReturnType<VariantColorsResolver>> = {
  filled: {
    background: 'var(--ink)',
    hover: 'var(--ink-hover)',
    color: 'var(--on-ink)',
    border: '1px solid transparent',
  },
  default: { background: 'var(--raised)', hover: 'var(--hover)', color: 'var(--t1)', border: '1px solid var(--line2)' },
  subtle: { background: 'transparent', hover: 'var(--hover)', color: 'var(--t2)', border: '1px solid transparent' },
  danger: {
    background: 'var(--danger)',
    hover: 'var(--danger-hover)',
    color: 'var(--on-danger)',
    border: '1px solid transparent',
  },
};

export const theme = createTheme({
  fontFamily: "'Geist', 'Geist fallback', system-ui, sans-serif",
  fontFamilyMonospace: "'Geist Mono', ui-monospace, monospace",
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '15px', xl: '18px' },
  lineHeights: { xs: '1.33', sm: '1.43', md: '1.43', lg: '1.33', xl: '1.33' },
  headings: { fontFamily: 'inherit', fontWeight: '600' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  defaultRadius: 'md',
  primaryColor: 'gray',
  cursorType: 'pointer',
  respectReducedMotion: true,
  variantColorResolver: ({ variant }) => variants[variant] ?? variants.default!,
  components: {
    Button: { defaultProps: { size: 'sm', variant: 'default' } },
    ActionIcon: { defaultProps: { variant: 'subtle', size: 32 } },
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 120 } } },
    Modal: { defaultProps: { lockScroll: false, radius: 'xl', centered: true, transitionProps: { duration: 120 } } },
    Drawer: { defaultProps: { lockScroll: false, transitionProps: { duration: 120 } } },
    Menu: {
      defaultProps: {
        withInitialFocusPlaceholder: false,
        position: 'bottom-end',
        width: 220,
        transitionProps: { duration: 80 },
      },
    },
    // The options scroll by themselves (mantine.css), as the field leads keys through them; a ScrollArea would be a region that no key
    // reaches.
    Select: {
      defaultProps: { withCheckIcon: true, checkIconPosition: 'right', allowDeselect: false, withScrollArea: false },
    },
    MultiSelect: { defaultProps: { withScrollArea: false } },
  },
});

// The same key as in public/theme.js.
export const colorSchemes = localStorageColorSchemeManager({ key: 'presetbridge-theme' });
