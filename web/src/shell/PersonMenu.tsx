// The menu of the person who is signed in. It is not in the first script, of which menus and their library would be a large part.
import { Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { queries } from '@/api/queries';
import { useOpensItself } from '@/components/useOpensItself';
import { t } from '@/i18n/text';
import { session } from '@/session';

const THEMES: [MantineColorScheme, 'nav.theme.auto' | 'nav.theme.light' | 'nav.theme.dark'][] = [
  ['auto', 'nav.theme.auto'],
  ['light', 'nav.theme.light'],
  ['dark', 'nav.theme.dark'],
];

// `row`: of the button that it replaces.
type Props = { row: ComponentProps<'button'>; onHelp: () => void; children: ReactNode };

export function PersonMenu({ row, onHelp, children }: Props) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const version = useQuery(queries.version());
  const { button, menu } = useOpensItself();
  return (
    <Menu position="top" width={232} {...menu}>
      <Menu.Target>
        <button {...row} ref={button}>
          {children}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('nav.theme')}</Menu.Label>
        {THEMES.map(([scheme, key]) => (
          <Menu.RadioItem
            key={scheme}
            value={scheme}
            checked={colorScheme === scheme}
            onChange={() => setColorScheme(scheme)}
            closeMenuOnClick
          >
            {t(key)}
          </Menu.RadioItem>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={onHelp}>{t('nav.shortcuts')}</Menu.Item>
        <Menu.Item onClick={() => void session.signOut()}>{t('nav.signOut')}</Menu.Item>
        {version.data ? <Menu.Label>{t('nav.version', { version: version.data.version })}</Menu.Label> : null}
      </Menu.Dropdown>
    </Menu>
  );
}
