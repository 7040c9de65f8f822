/** A PDF with these lines of text on each page, in a font that the file does not hold. */
export function pdf(...pages) {
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"];
  const numbers = pages.map((lines) => {
    const drawn = `BT /F 12 Tf 16 TL 60 720 Td ${lines.map((line) => `(${line}) Tj T*`).join(" ")} ET`;
    objects.push(`<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`);
    const resources = "/Resources << /Font << /F 3 0 R >> >>";
    return objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 780] /Contents ${objects.length} 0 R ${resources} >>`);
  });
  objects[1] = `<< /Type /Pages /Count ${pages.length} /Kids [${numbers.map((n) => `${n} 0 R`).join(" ")}] >>`;
  let made = "%PDF-1.4\n";
  const places = objects.map((body, i) => {
    const at = made.length;
    made += `${i + 1} 0 obj\n${body}\nendobj\n`;
    return at;
  });
  const table = places.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${made.length}\n%%EOF`;
  return Buffer.from(made + end, "latin1");
}
