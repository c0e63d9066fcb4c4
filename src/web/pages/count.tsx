/** A number of things; a script writes it by the language of the reader. */
export function Count({ of: count }: { of: number }) {
  if (count < 1000) return <>{String(count)}</>;
  return <data value={count}>{count.toLocaleString("en")}</data>;
}
