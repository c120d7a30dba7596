// Chooses the store of the page's numbers, or all stores. The menu itself is loaded when its button is pressed.
import '@/i18n/en/home';
import { Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Bdi } from '@/components/Bdi';
import { useOpensItself } from '@/components/useOpensItself';
import { t } from '@/i18n/text';
import { changed, type Search } from '../search';
import { StoreButton } from './StoreButton';

type Props = { rows: { id: string; name: string }[]; store: string | undefined; search: Search };

export function StoreMenu({ rows, store, search }: Props) {
  const navigate = useNavigate();
  const { button, menu } = useOpensItself();
  return (
    <Menu position="bottom-end" {...menu}>
      <Menu.Target>
        <StoreButton ref={button} rows={rows} store={store} />
      </Menu.Target>
      <Menu.Dropdown>
        {[{ id: '', name: t('overview.allStores') }, ...rows].map(({ id, name }) => (
          <Menu.RadioItem
            key={id}
            value={id}
            checked={id === (store ?? '')}
            onChange={() => void navigate({ to: '/', search: changed(search, { store: id || undefined }) })}
            closeMenuOnClick
          >
            <Bdi>{name}</Bdi>
          </Menu.RadioItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
