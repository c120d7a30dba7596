// Whether the person of an ID token signed in within the 10 minutes before it was made (spec 7.2). Both times are the service's: the
// browser's clock may be wrong.
const LATELY_S = 600;

export function signedInLately(idToken: string): boolean {
  const claims = idToken.split('.')[1] ?? '';
  const { iat, auth_time } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as {
    iat: number;
    auth_time?: number;
  };
  return auth_time !== undefined && iat - auth_time <= LATELY_S;
}
