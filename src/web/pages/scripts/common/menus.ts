const openMenus = (): NodeListOf<HTMLDetailsElement> =>
  document.querySelectorAll<HTMLDetailsElement>("details.menu[open]");

/** Menus close by Escape, and by a click or a focus elsewhere. */
export function closeMenus(): void {
  for (const type of ["click", "focusin"]) {
    document.addEventListener(type, ({ target }) => {
      for (const menu of openMenus()) if (!menu.contains(target as Node)) menu.open = false;
    });
  }
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    for (const menu of openMenus()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
}
