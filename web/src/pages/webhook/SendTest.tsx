// Sends a test event to a receiver and shows it.
import '@/i18n/en/webhooks';
import { Button } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import type { Subscription } from '@/vocabulary/webhook';

export function SendTest({ it, first }: { it: Subscription; first: boolean }) {
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  const navigate = useNavigate();
  async function test() {
    if (!begin()) return;
    try {
      const { eventId } = await ok(
        api.POST('/api/webhook-subscriptions/{subscription}/test', { params: { path: { subscription: it.id } } }),
      );
      toast(t('webhook.tested'));
      await client.invalidateQueries({ queryKey: ['subscriptions'] });
      await navigate({ to: '/integrations/webhooks/$id', params: { id: it.id }, search: { event: eventId } });
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    } finally {
      end();
    }
  }
  return (
    <Button
      leftSection={<IconSend size={16} />}
      variant={first ? 'filled' : 'default'}
      disabled={!it.active}
      aria-disabled={busy || undefined}
      onClick={() => (busy ? undefined : void test())}
    >
      {t('webhook.test')}
    </Button>
  );
}
