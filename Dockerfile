# One static binary in an image that holds nothing else: no shell, no package
# manager, no root.
#
#   docker build -t interlock:local .

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/interlock . \
 && mkdir -p /out/etc/interlock /out/tmp \
 && cp -r providers/fixtures/contracts /out/etc/interlock/contracts \
 && echo "interlock:x:65532:65532::/:/interlock" > /out/etc/passwd \
 && chmod 1777 /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ /
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/interlock"]
CMD ["serve", "--listen", "0.0.0.0:8080"]
