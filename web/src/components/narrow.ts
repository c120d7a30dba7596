// Narrow screens, such as phones.
import { useMediaQuery } from '@mantine/hooks';

// The days that a chart shows of a longer time there: the last ones.
export const NARROW_DAYS = 14;

// The width is that of the style sheets.
export const useNarrow = () => useMediaQuery('(max-width: 820px)', false, { getInitialValueInEffect: false });
