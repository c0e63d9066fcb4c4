/**
 * The script of the page that uploads files: they are chosen and dropped several times, directories
 * too, and sent as one form.
 */
import { readPage, reasonOf } from "./common/read-answer.ts";

const form = document.querySelector<HTMLFormElement>("form.upload");
const list = form?.querySelector<HTMLUListElement>(".chosen");
const state = form?.querySelector<HTMLElement>(".upload-state");
const place = form?.querySelector<HTMLElement>(".drop");

/** Files that are shown; more are counted. */
const SHOWN_MAX = 50;

/** The chosen files by their paths. */
const chosen = new Map<string, File>();

function add(path: string, file: File): void {
  chosen.set(path, file);
}

function show(): void {
  if (!list || !state) return;
  const rows = [...chosen.keys()].slice(0, SHOWN_MAX).map((path) => {
    const row = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "Remove";
    button.setAttribute("aria-label", `Remove ${path}`);
    button.addEventListener("click", () => {
      chosen.delete(path);
      show();
      (list.querySelector("button") ?? place)?.focus();
    });
    row.append(`${path} `, button);
    return row;
  });
  list.replaceChildren(...rows);
  const { size } = chosen;
  const rest = size - rows.length;
  state.textContent =
    size === 0 ? "" : `${size} chosen${rest > 0 ? `, ${rest} more than are shown` : ""}.`;
}

for (const input of form?.querySelectorAll<HTMLInputElement>("input[type=file]") ?? []) {
  input.addEventListener("change", () => {
    for (const file of input.files ?? []) add(file.webkitRelativePath || file.name, file);
    // What is listed is not sent by the field as well.
    input.value = "";
    show();
  });
}

place?.addEventListener("dragover", (event) => {
  event.preventDefault();
  place.classList.add("dropping");
});
place?.addEventListener("dragleave", () => place.classList.remove("dropping"));
place?.addEventListener("drop", (event) => {
  event.preventDefault();
  place.classList.remove("dropping");
  // The items are gone once the event is over: their entries stay.
  const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === "file");
  const dropped = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  void Promise.all(
    dropped.map(async (each) => {
      if (each instanceof File) add(each.name, each);
      else if (each) await take(each);
    }),
  ).then(show);
});

/** Takes a file, or all files of a directory, by the path from what was dropped. */
async function take(entry: FileSystemEntry): Promise<void> {
  const path = entry.fullPath.replace(/^\//, "");
  if (entry.isFile) {
    add(
      path,
      await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail)),
    );
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // It gives some at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((done, fail) =>
      reader.readEntries(done, fail),
    );
    if (some.length === 0) return;
    for (const each of some) await take(each);
  }
}

form?.addEventListener("submit", (event) => {
  if (chosen.size === 0) return;
  event.preventDefault();
  void send(form);
});

/** Sends the form with the chosen files, and shows its answer in place of the page. */
async function send(sent: HTMLFormElement): Promise<void> {
  const body = new FormData(sent);
  body.delete("files");
  for (const [path, file] of chosen) body.append("files", file, path);
  const button = sent.querySelector<HTMLButtonElement>("button.primary");
  if (button) button.disabled = true;
  if (state) state.textContent = `Sending ${chosen.size} files…`;
  const answer = await fetch(sent.action, { method: "POST", body }).catch(() => undefined);
  if (button) button.disabled = false;
  if (answer?.redirected) {
    location.assign(answer.url);
    return;
  }
  if (state) state.textContent = reasonOf(await readPage(answer));
  state?.classList.add("fault");
}
