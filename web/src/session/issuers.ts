// The address at which an identity provider's sign-in begins. `place`: the page to come back to, with its filters.
const LONGEST = 500; // characters that the service accepts as the page to come back to

// In the form that the service accepts: other characters ("status=failed,in_review") are percent-encoded. It accepts no part after #.
const plain = (place: string) =>
  place.replace(/#.*$/s, '').replace(/[^\w\-.~/?=&%+]/g, (mark) => encodeURIComponent(mark).replace(/^[!'()*]$/, hex));
const hex = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;

export function startOf(startUrl: string, place: string, { stepUp = false } = {}): string {
  const whole = plain(place);
  const back = whole.length <= LONGEST ? whole : whole.replace(/\?.*$/, '');
  return `${startUrl}?${stepUp ? 'stepUp=true&' : ''}returnTo=${encodeURIComponent(back)}`;
}
