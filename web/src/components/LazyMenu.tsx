// A button whose menu is loaded when it is pressed. The menu, the only child, has a button of its own (useOpensItself).
import { Suspense, useState, type ReactNode } from 'react';

type Props = { button: (props: { onClick: () => void }) => ReactNode; children: ReactNode };

export function LazyMenu({ button, children }: Props) {
  const [pressed, setPressed] = useState(false);
  const first = button({ onClick: () => setPressed(true) });
  return pressed ? <Suspense fallback={first}>{children}</Suspense> : first;
}
