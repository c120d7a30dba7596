import { Drawer } from '@mantine/core';
import { t } from '@/i18n/text';
import { Nav } from './Nav';

type Props = { onClose: () => void; onHelp: () => void; onSearch: () => void };

export function PhoneNav({ onClose, onHelp, onSearch }: Props) {
  return (
    <Drawer
      opened
      title={t('app.name')}
      onClose={onClose}
      size={300}
      position="right"
      closeButtonProps={{ 'aria-label': t('nav.close'), size: 44 }}
    >
      <Nav onHelp={onHelp} onSearch={onSearch} />
    </Drawer>
  );
}
