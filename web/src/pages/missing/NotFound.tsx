// An address without a page: within the frame for a person who is signed in.
import { Gate } from '@/session/Gate';
import { useSession } from '@/session';
import { Missing } from './Missing';

export function NotFound() {
  const state = useSession();
  if (state.name !== 'out')
    return (
      <Gate>
        <Missing />
      </Gate>
    );
  return (
    <main>
      <Missing />
    </main>
  );
}
