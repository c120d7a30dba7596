// Switches on the store of an order that came while it was off.
import '@/i18n/en/orders';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { api, ok } from '@/api/client';
import { queries } from '@/api/queries';
import { toast } from '@/components/toasts';
import { useAct } from '@/components/useAct';
import { t } from '@/i18n/text';

export function SwitchOn({ id, name, order }: { id: string; name: string; order: string }) {
  const client = useQueryClient();
  const { busy, button } = useAct(async () => {
    const path = { integration: id };
    await ok(api.PATCH('/api/integrations/{integration}', { params: { path }, body: { active: true } }));
    toast(t('stores.switchedOn', { name }));
    await client.invalidateQueries({ queryKey: ['stores'] });
    await client.invalidateQueries({ queryKey: queries.order(order).queryKey });
  });
  return (
    <Button variant="filled" {...button}>
      {busy ? t('action.working') : t('orderPage.switchOn', { name })}
    </Button>
  );
}
