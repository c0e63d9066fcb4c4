/** The origin of the service on this machine: if it listens on all addresses, that of 127.0.0.1. */
export function toLocalOrigin(url: URL): string {
  if (!listensOnAll(url)) return url.origin;
  const local = new URL(url);
  local.hostname = "127.0.0.1";
  return local.origin;
}

export const listensOnAll = ({ hostname }: URL): boolean =>
  hostname === "0.0.0.0" || hostname === "[::]";
