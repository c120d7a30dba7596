export function Mark({ size = 32 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--ink)" />
      <path
        d="M8.5 20.5a7.5 7.5 0 0 1 15 0"
        fill="none"
        stroke="var(--on-ink)"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
      <circle cx="8.5" cy="20.8" r="2.9" fill="var(--on-ink)" />
      <circle cx="23.5" cy="20.8" r="2.9" fill="var(--bar)" />
    </svg>
  );
}
