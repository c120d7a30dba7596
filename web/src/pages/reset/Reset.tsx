// A new password for who forgot it: first the address that a link is mailed to, and with the link the password.
import { useLinkToken } from '../sign-in/useLinkToken';
import { AskReset } from './AskReset';
import { NewPassword } from './NewPassword';

export function Reset() {
  const token = useLinkToken();
  return token ? <NewPassword key={token} token={token} /> : <AskReset />;
}
