/**
 * Opens the page of a conversation with the comment that the address names after its `#`, which no
 * server receives. The page that is open has it, or else names it as its entry.
 */
export function openNamedEntry(): void {
  openEntry();
  addEventListener("hashchange", openEntry);
}

function openEntry(): void {
  const [, id] = /^#issuecomment-(\d+)$/.exec(location.hash) ?? [];
  if (id === undefined || document.getElementById(`issuecomment-${id}`)) return;
  const address = new URL(location.href);
  const isConversation = /\/(?:issues|pulls)\/\d+$/.test(address.pathname);
  if (!isConversation || address.searchParams.get("entry") === id) return;
  address.searchParams.delete("page");
  address.searchParams.set("entry", id);
  location.replace(address);
}
