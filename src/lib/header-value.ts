/**
 * A name as a header says it: in plain letters for all, and as it is for those who can read it.
 *
 * @see RFC 6266, RFC 8187.
 */
export function formatFilename(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9 ._-]/g, "_");
  const exact = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${plain}"; filename*=UTF-8''${exact}`;
}
