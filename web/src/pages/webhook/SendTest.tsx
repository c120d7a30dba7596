// Sends a test event to a receiver and shows it.
import '@/i18n/en/webhooks';
import { Button } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, ok } from '@/api/client';
import { toast } from '@/components/toasts';
import { useAct } from '@/components/useAct';
import { t } from '@/i18n/text';
import type { Subscription } from '@/vocabulary/webhook';

export function SendTest({ it, first }: { it: Subscription; first: boolean }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { button } = useAct(async () => {
    const { eventId } = await ok(
      api.POST('/api/webhook-subscriptions/{subscription}/test', { params: { path: { subscription: it.id } } }),
    );
    toast(t('webhook.tested'));
    await client.invalidateQueries({ queryKey: ['subscriptions'] });
    await navigate({ to: '/integrations/webhooks/$id', params: { id: it.id }, search: { event: eventId } });
  });
  return (
    <Button
      leftSection={<IconSend size={16} />}
      variant={first ? 'filled' : 'default'}
      disabled={!it.active}
      {...button}
    >
      {t('webhook.test')}
    </Button>
  );
}
