import '@/i18n/en/usage';
import { SegmentedControl } from '@mantine/core';
import { t } from '@/i18n/text';
import { PERIOD_NAMES, type Period } from './period';

export function PeriodChoice({ value, onChange }: { value: Period; onChange: (period: Period) => void }) {
  return (
    <SegmentedControl
      aria-label={t('usage.period')}
      value={value}
      onChange={(period) => onChange(period as Period)}
      data={PERIOD_NAMES.map((one) => ({ value: one, label: t(`usage.period.${one}`) }))}
    />
  );
}
