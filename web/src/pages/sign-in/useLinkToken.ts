// The token of a link, which stands after # in it: it is taken out of the address at once, and lives in the state of the page alone.
import { useEffect, useState } from 'react';

const hereAfter = () => window.location.hash.slice(1);

export function useLinkToken(): string {
  const [token, setToken] = useState(hereAfter);
  useEffect(() => {
    const clean = () => window.history.replaceState(window.history.state, '', window.location.pathname);
    // Another link that is opened over this page changes only the part after #.
    const another = () => {
      if (!window.location.hash) return;
      setToken(hereAfter());
      clean();
    };
    if (window.location.hash) clean();
    window.addEventListener('hashchange', another);
    return () => window.removeEventListener('hashchange', another);
  }, []);
  return token;
}
