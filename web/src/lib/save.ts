/** Files for the reader to keep. */

export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const saveText = (name: string, type: string, text: string): void =>
  save(name, new Blob([text], { type: `${type};charset=utf-8` }));

const SVG = "http://www.w3.org/2000/svg";
/** Of a side of a picture. */
const MOST_PIXELS = 8000;
const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "paint-order", "opacity"];

export interface Picture {
  text: string;
  width: number;
  height: number;
}

/** A copy of a drawing that needs no style sheet: what the style sheet says stands in attributes. */
export function standalone(svg: SVGSVGElement): Picture {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const there = [svg, ...svg.querySelectorAll("*")];
  const here = [copy, ...copy.querySelectorAll("*")];
  there.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of KEPT) here[i]?.setAttribute(name, style.getPropertyValue(name));
    here[i]?.removeAttribute("class");
  });
  const { width, height } = svg.viewBox.baseVal;
  const ground = document.createElementNS(SVG, "rect");
  const look = { width: "100%", height: "100%", fill: getComputedStyle(document.documentElement).backgroundColor };
  Object.entries(look).forEach(([name, value]) => ground.setAttribute(name, value));
  copy.prepend(ground);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

export async function savePicture(name: string, { text, width, height }: Picture): Promise<void> {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const scale = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => blob && save(`${name}.png`, blob), "image/png");
}
