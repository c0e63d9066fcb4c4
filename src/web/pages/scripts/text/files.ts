import { replace } from "./insert.ts";

/** Uploads the files that are chosen, dropped or pasted, and puts a link to each into the text. */
export function uploadInPlace(field: HTMLElement, area: HTMLTextAreaElement): void {
  const input = field.querySelector<HTMLInputElement>("input[type=file]");
  const button = input?.nextElementSibling;
  const state = field.querySelector<HTMLElement>(".upload-state");
  if (!input || !(button instanceof HTMLButtonElement) || !state) return;
  input.multiple = true;
  const uploads: Uploads = { area, state, address: button.formAction };
  const take = (event: Event, files: FileList | undefined): void => {
    if (!files || files.length === 0) return;
    event.preventDefault();
    void uploadAll(uploads, [...files]);
  };
  input.addEventListener("change", (event) => {
    take(event, input.files ?? undefined);
    // What is uploaded is not sent with the form.
    input.value = "";
  });
  area.addEventListener("paste", (event) => take(event, event.clipboardData?.files));
  area.addEventListener("drop", (event) => {
    area.classList.remove("dropping");
    take(event, event.dataTransfer?.files);
  });
  area.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    area.classList.add("dropping");
  });
  area.addEventListener("dragleave", () => area.classList.remove("dropping"));
}

interface Uploads {
  readonly area: HTMLTextAreaElement;
  /** Says how far the uploads are, and why one was refused. */
  readonly state: HTMLElement;
  readonly address: string;
}

async function uploadAll(uploads: Uploads, files: readonly File[]): Promise<void> {
  const { area, state } = uploads;
  const refusals: string[] = [];
  for (const file of files) {
    // Not what the text may have: the mark is found again where the reader goes on writing.
    const mark = `[Uploading ${file.name}…]()`;
    replace(area, area.selectionStart, area.selectionEnd, mark);
    const { markdown = "", refusal } = await upload(uploads, file);
    const start = area.value.indexOf(mark);
    const end = start + mark.length;
    if (start < 0) replace(area, area.selectionEnd, area.selectionEnd, markdown);
    else replaceBeside(area, start, end, markdown);
    if (refusal !== undefined) refusals.push(`${file.name}: ${refusal}`);
  }
  state.textContent = refusals.join(" ");
  state.classList.toggle("fault", refusals.length > 0);
}

/** Replaces a part of the text; the selection stays where it is. */
function replaceBeside(area: HTMLTextAreaElement, start: number, end: number, text: string): void {
  const { selectionStart, selectionEnd } = area;
  const by = text.length - (end - start);
  const moved = (at: number): number => (at >= end ? at + by : Math.min(at, start));
  replace(area, start, end, text);
  area.setSelectionRange(moved(selectionStart), moved(selectionEnd));
}

interface Uploaded {
  readonly markdown?: string;
  readonly refusal?: string;
}

// By `XMLHttpRequest`, since `fetch` does not say how much of a body was sent.
const upload = ({ area, state, address }: Uploads, file: File): Promise<Uploaded> =>
  new Promise((resolve) => {
    const form = new FormData();
    form.append("_csrf", area.form?.querySelector<HTMLInputElement>("[name=_csrf]")?.value ?? "");
    form.append("file", file);
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      state.textContent = `Uploading ${file.name}: ${Math.floor((100 * loaded) / total)}%`;
    });
    request.addEventListener("load", () => {
      const { status, responseText } = request;
      resolve(status === 200 ? (JSON.parse(responseText) as Uploaded) : { refusal: responseText });
    });
    request.addEventListener("error", () => resolve({ refusal: "the service can't be reached." }));
    request.send(form);
  });
