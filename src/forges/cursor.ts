/** A position or number in a cursor; 0 if there is none. */
export function numberOf(text: string | undefined): number {
  const value = Number(text ?? 0);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`no cursor: ${text}`);
  return value;
}
