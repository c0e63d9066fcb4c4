/**
 * Formats the filename parameters of `Content-Disposition`: an ASCII fallback, and the exact name
 * in UTF-8.
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
