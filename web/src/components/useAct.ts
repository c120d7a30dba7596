// The action of a button, once at a time. A toast says why it failed.
import { sentence } from '@/api/errors';
import { toast } from './toasts';
import { useSubmit } from './useSubmit';

export function useAct(work: () => Promise<unknown>) {
  const { busy, begin, end } = useSubmit();
  async function act() {
    if (!begin()) return;
    try {
      await work();
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    } finally {
      end();
    }
  }
  return { busy, button: { 'aria-disabled': busy || undefined, onClick: () => void act() } };
}
