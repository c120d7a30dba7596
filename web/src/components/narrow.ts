// A narrow screen shows the last two weeks of a longer time.
import { useMediaQuery } from '@mantine/hooks';

export const NARROW_DAYS = 14;

export const useNarrow = () => useMediaQuery('(max-width: 820px)', false, { getInitialValueInEffect: false });
