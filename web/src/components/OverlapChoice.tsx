// For how long a former secret works beside the new one.
import { NativeSelect } from '@mantine/core';
import { momentWithin } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useNow } from './Time';

const CHOICES = ['0', '3600', '86400', '604800', '2592000'] as const;

export function OverlapChoice({ value, onChange }: { value: number; onChange: (seconds: number) => void }) {
  const now = useNow();
  return (
    <div>
      <NativeSelect
        label={t('rotate.overlap')}
        size="md"
        data={CHOICES.map((seconds) => ({ value: seconds, label: t(`rotate.${seconds}`) }))}
        value={String(value)}
        onChange={(event) => onChange(Number(event.currentTarget.value))}
      />
      <p className="muted">
        {value === 0
          ? t('rotate.atOnce')
          : t('rotate.until', { time: momentWithin(new Date(now + value * 1000).toISOString()) })}
      </p>
    </div>
  );
}
