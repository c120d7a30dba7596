// The menu of all that can be done with a delivery now. LazyActions loads it when its button is pressed.
import '@/i18n/en/delivery';
import { Menu } from '@mantine/core';
import { useCopy } from '@/components/Copy';
import { toast } from '@/components/toasts';
import { useOpensItself } from '@/components/useOpensItself';
import { t } from '@/i18n/text';
import { said, useDeliveryActions } from './actions';
import { ActionsButton } from './ActionsButton';
import { useAsk } from './ask';
import { presentHolder, revocable } from './holders';
import type { Delivery } from './types';

export function ActionsMenu({ it }: { it: Delivery }) {
  const ask = useAsk();
  const act = useDeliveryActions(it);
  const may = (action: Delivery['allowedActions'][number]) => it.allowedActions.includes(action);
  const holder = presentHolder(it);
  const { button, menu } = useOpensItself();
  const { copy } = useCopy();
  const copyOf = async (text: string) => {
    if (await copy(text)) toast(t('action.copied'));
  };
  return (
    <Menu {...menu}>
      <Menu.Target>
        <ActionsButton ref={button} />
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
        <Menu.Item onClick={() => void copyOf(window.location.href)}>{t('menu.copyLink')}</Menu.Item>
        <Menu.Item onClick={() => void copyOf(it.id)}>{t('menu.copyId')}</Menu.Item>
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
