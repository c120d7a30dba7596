import { ActionIcon } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { t } from '@/i18n/text';

export function ActionsButton(props: ComponentProps<'button'>) {
  return (
    <ActionIcon
      variant="default"
      size={34}
      aria-label={t('action.more')}
      aria-haspopup="menu"
      aria-expanded={false}
      {...props}
    >
      <IconDots size={18} />
    </ActionIcon>
  );
}
