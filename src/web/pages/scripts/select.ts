/** The script of lists whose entries can be selected: a checkbox selects all of the page. */
const all = document.querySelector<HTMLInputElement>("input[data-select-all]");
const selection = all?.form;

const boxes = (): HTMLInputElement[] =>
  [...(selection?.elements ?? [])].filter(
    (element): element is HTMLInputElement =>
      element instanceof HTMLInputElement && element.name.startsWith("issue-"),
  );

function follow(): void {
  if (!all) return;
  const count = boxes().filter(({ checked }) => checked).length;
  all.checked = count > 0 && count === boxes().length;
  all.indeterminate = count > 0 && !all.checked;
}

all?.addEventListener("change", () => {
  for (const box of boxes()) box.checked = all.checked;
});
document.addEventListener("change", ({ target }) => {
  if (target instanceof HTMLInputElement && target !== all && target.form === selection) follow();
});
// A browser may keep what was selected when the page is loaded again.
follow();
