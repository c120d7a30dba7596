// Everything that can be done with a delivery now.
import '@/i18n/en/delivery';
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { said, useDeliveryActions } from './actions';
import { useAsk } from './ask';
import { presentHolder, revocable } from './holders';
import type { Delivery } from './types';

export function ActionsMenu({ it }: { it: Delivery }) {
  const ask = useAsk();
  const act = useDeliveryActions(it);
  const may = (action: Delivery['allowedActions'][number]) => it.allowedActions.includes(action);
  const holder = presentHolder(it);
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" size={34} aria-label={t('action.more')}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {may('retry') ? (
          <Menu.Item onClick={() => void said(act('retry'), () => t('act.retried'))}>{t('menu.retry')}</Menu.Item>
        ) : null}
        {may('complete') ? <Menu.Item onClick={() => ask({ what: 'byHand' })}>{t('menu.byHand')}</Menu.Item> : null}
        {may('reopen') ? <Menu.Item onClick={() => ask({ what: 'reopen' })}>{t('menu.reopen')}</Menu.Item> : null}
        {may('revoke') && revocable(holder).length > 0 ? (
          <Menu.Item onClick={() => ask({ what: 'revoke', holder })}>{t('menu.revoke')}</Menu.Item>
        ) : null}
        <Menu.Item onClick={() => ask({ what: 'link' })}>{t('menu.newLink')}</Menu.Item>
        <Menu.Item onClick={() => void copied(window.location.href)}>{t('menu.copyLink')}</Menu.Item>
        <Menu.Item onClick={() => void copied(it.id)}>{t('menu.copyId')}</Menu.Item>
        {may('invalidate') ? (
          <>
            <Menu.Divider />
            <Menu.Item data-danger onClick={() => ask({ what: 'stop' })}>
              {t('menu.stop')}
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}

async function copied(text: string) {
  await navigator.clipboard.writeText(text).then(
    () => toast(t('action.copied')),
    () => toast(text, { tone: 'bad' }),
  );
}
